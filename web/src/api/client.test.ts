import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { bodyOf, clientOf, setSession, type Session } from "./client";
import { ProblemError, problemOf, problemToShow, UnreachableError } from "./problems";

const PROBLEM = { type: "about:blank", title: "Unauthorized", status: 401, detail: "who is it?" };
const requests: { token: string | undefined; body: string }[] = [];
const server = createServer((request, response) => {
  void textOf(request).then((body) => {
    const token = request.headers.authorization;
    requests.push({ token, body });
    const right = token === "Bearer right";
    response.writeHead(right ? 200 : 401).end(JSON.stringify(right ? { id: "0a" } : PROBLEM));
  });
});
let address = "";

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of request) text += String(piece);
  return text;
}

/** A session that gets these tokens, one after the other. */
function withTokens(...tokens: string[]) {
  let token: string | null = null;
  const session = {
    token: () => token,
    requestToken: vi.fn<Session["requestToken"]>(() => {
      token = tokens.shift() ?? null;
      return Promise.resolve(token !== null);
    }),
    reachable: vi.fn(),
    unreachable: vi.fn(),
  };
  setSession(session);
  return session;
}

beforeEach(async () => {
  requests.length = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterEach(() => new Promise<unknown>((resolve) => server.close(resolve)));

const ask = (at: string, signal: AbortSignal | null = null) =>
  bodyOf(() => clientOf(at).POST("/optimize", { body: { query: "Answer" }, signal }));
const thrownBy = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(() => null, (error: unknown) => error);

describe("a request", () => {
  const body = JSON.stringify({ query: "Answer" });

  it("is repeated with its body until a token is right", async () => {
    const session = withTokens("wrong", "right");
    expect(await ask(address)).toEqual({ id: "0a" });
    expect(requests).toEqual([
      { token: undefined, body },
      { token: "Bearer wrong", body },
      { token: "Bearer right", body },
    ]);
    expect(session.reachable).toHaveBeenCalledTimes(3);
  });

  it("is repeated without a question if the token changed while it was under way", async () => {
    const session = withTokens();
    setSession({ ...session, token: () => (requests.length === 0 ? "wrong" : "right") });
    expect(await ask(address)).toEqual({ id: "0a" });
    expect(requests.map(({ token }) => token)).toEqual(["Bearer wrong", "Bearer right"]);
    expect(session.requestToken).not.toHaveBeenCalled();
  });

  it("fails with the problem document where there is no token", async () => {
    withTokens();
    const error = await thrownBy(ask(address));
    expect(error).toBeInstanceOf(ProblemError);
    expect(problemToShow(error)).toEqual(PROBLEM);
    expect(requests.length).toBe(1);
  });

  it("tells the session that the service is away", async () => {
    const session = withTokens();
    expect(await thrownBy(ask("http://127.0.0.1:1"))).toBeInstanceOf(UnreachableError);
    expect(session.unreachable).toHaveBeenCalledTimes(1);
  });

  it("that is cancelled says nothing about the service", async () => {
    const session = withTokens();
    expect(problemToShow(await thrownBy(ask(address, AbortSignal.abort())))).toBeNull();
    expect(session.unreachable).not.toHaveBeenCalled();
  });
});

it("an answer without a problem document is described by its status", () => {
  const response = new Response(null, { status: 502, statusText: "Bad Gateway" });
  expect(problemOf("<html>", response)).toMatchObject({ status: 502, detail: "Bad Gateway" });
});
