import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packages, root } from '../tooling/consumer/packages.ts'

/** Packages that the guides install, each with the workspace package that depends on it. */
export const INSTALLED = [
  ['vitest', '.'],
  ['ai', '.'],
  ['openai', '.'],
  ['@ai-sdk/react', 'examples/chat-page'],
  ['react', 'examples/chat-page'],
  ['react-dom', 'examples/chat-page'],
  ['vite', 'examples/chat-page'],
  ['iron-session', 'examples/next-chat'],
  ['oidc-provider', 'packages/server-app'],
  ['@types/oidc-provider', 'packages/server-app'],
  ['openid-client', 'packages/platform-node'],
  ['standardwebhooks', '.'],
  ['typescript', '.'],
  ['@types/node', '.'],
  ['valibot', 'packages/protocol'],
  ['chat', 'packages/chat-sdk'],
  ['@chat-adapter/slack', 'packages/chat-sdk'],
  ['zod', 'packages/server-app'],
  ['better-sqlite3-multiple-ciphers', 'packages/sqlite'],
  ['hono', 'examples/hono'],
  ['@hono/node-server', 'examples/hono'],
  ['express', 'examples/express'],
  ['@types/express', 'examples/express'],
  ['fastify', 'examples/fastify'],
  ['@opentelemetry/api', 'packages/platform-node'],
  ['@opentelemetry/context-async-hooks', 'packages/platform-node'],
  ['@opentelemetry/sdk-trace', 'packages/platform-node'],
  ['@opentelemetry/exporter-trace-otlp-http', 'packages/server-app'],
] as const

/** Fills a `node_modules` with links to the packages of the workspace and to those that the guides install. */
export function linkPackages(modules: string): void {
  const own = packages.map(({ folder, manifest }): [string, string] => [manifest.name, folder])
  const others = INSTALLED.map(([name, at]): [string, string] => [name, join(at, 'node_modules', name)])
  for (const [name, target] of [...own, ...others]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, target), join(modules, name))
  }
}
