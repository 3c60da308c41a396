/**
 * What each package needs at run time from outside this repository. A new name here is a decision: who keeps it, what it
 * brings along, and what it is allowed to do.
 */
export const RUNTIME_DEPENDENCIES: Readonly<Record<string, readonly string[]>> = {
  'packages/protocol': ['valibot'],
  'packages/ports': [],
  'packages/core': ['@standard-schema/spec', 'valibot'],
  'packages/in-memory': [],
  'packages/testkit': [],
  'packages/sqlite': ['better-sqlite3'],
  'packages/platform-node': ['cron-parser', 'yaml'],
  'packages/mcp': ['@modelcontextprotocol/client'],
  'packages/http': ['@valibot/to-json-schema', 'hono', 'valibot'],
  'packages/realtime': ['valibot', 'ws'],
  'packages/client': ['eventsource-parser', 'valibot'],
  'packages/server-app': ['valibot'],
  'apps/cli': ['@valibot/to-json-schema', 'chokidar', 'commander', 'valibot'],
}

/** What a package takes when it is there, and does without otherwise; a test runner for the testkit. */
export const PEERS: Readonly<Record<string, readonly string[]>> = {
  'packages/sqlite': ['better-sqlite3-multiple-ciphers'],
  'packages/platform-node': ['@napi-rs/keyring', '@opentelemetry/api'],
  'packages/testkit': ['vitest'],
}

/** What `pnpm build` makes part of the code of a package: nothing that reads what strangers send, so that an audit sees all of that. */
export const BUILT_IN: Readonly<Record<string, readonly string[]>> = {
  'packages/sqlite': ['kysely'],
  'packages/platform-node': ['@prometheus-io/client'],
}

/** Packages that an installation brings along in all, itself and its neighbours apart. */
export const BROUGHT_ALONG_AT_MOST: Readonly<Record<string, number>> = {
  'packages/protocol': 1,
  'packages/ports': 1,
  'packages/core': 2,
  'packages/in-memory': 1,
  'packages/testkit': 1,
  'packages/sqlite': 3,
  'packages/platform-node': 4,
  'packages/mcp': 14,
  'packages/http': 4,
  'packages/realtime': 3,
  'packages/client': 2,
  'packages/server-app': 23,
  'apps/cli': 27,
}

/** Licences that ask for nothing but to be kept with the copy. */
export const LICENSES: ReadonlySet<string> = new Set([
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  '0BSD',
])
