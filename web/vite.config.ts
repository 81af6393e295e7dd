import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

const SERVICE = process.env["HEADRACE_SERVICE"] ?? "http://127.0.0.1:8080";
const ROUTES = [
  "optimize",
  "explain",
  "plans",
  "streams",
  "examples",
  "languages",
  "queries",
  "healthz",
];

export default defineConfig({
  plugins: [svelte()],
  // Wherever the service is mounted, the page is beside it.
  base: "./",
  build: {
    outDir: "../api/page",
    emptyOutDir: true,
    target: "es2022",
    // A file of its own is a request that the policy can name; data: is none.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000,
    modulePreload: { polyfill: false },
  },
  worker: { format: "es" },
  server: {
    proxy: Object.fromEntries(
      ROUTES.map((route) => [`/${route}`, { target: SERVICE, changeOrigin: true }]),
    ),
  },
});
