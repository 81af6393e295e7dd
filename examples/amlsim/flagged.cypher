// Three transfers in time order that go round from a flagged account, the first of them more than
// half of what that account had at the beginning.
REGISTER QUERY flagged {
  FROM STREAM amlsim WITH WINDOW RANGE P100D
  MATCH (a:account {fraud: true})-[e:transfer]->(b)-[f:transfer]->(c)-[g:transfer]->(a)
  WHERE e.amount > a.balance / 2.0 AND e.ts <= f.ts AND f.ts <= g.ts
  RETURN a, b, c, e.amount AS amount, e.ts AS first, g.ts AS last
}
