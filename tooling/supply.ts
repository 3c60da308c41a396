/**
 * The third-party run-time dependencies of each package. A new name here is a decision: who maintains it, what it
 * depends on, and what it can access.
 */
export const RUNTIME_DEPENDENCIES: Readonly<Record<string, readonly string[]>> = {
  'packages/protocol': ['valibot'],
  'packages/ports': [],
  'packages/core': ['valibot'],
  'packages/in-memory': [],
  'packages/testkit': [],
  'packages/storage': [],
  'packages/sqlite': ['better-sqlite3'],
  'packages/postgres': ['pg'],
  'packages/platform-node': ['cron-parser', 'jose', 'yaml'],
  'packages/mcp': ['@modelcontextprotocol/client'],
  'packages/http': ['hono', 'valibot'],
  'packages/realtime': ['valibot', 'ws'],
  'packages/interop': [],
  'packages/ai-sdk': [],
  'packages/evals': [],
  'packages/client': ['eventsource-parser', 'valibot'],
  'packages/console': [],
  'packages/server-app': ['valibot'],
  'packages/create-perdure': [],
  'packages/perdure': [],
  'apps/cli': ['valibot'],
}

/** Optional packages that a package uses when installed, and the test runner of the testkit. */
export const OPTIONAL_PEERS: Readonly<Record<string, readonly string[]>> = {
  'packages/sqlite': ['better-sqlite3-multiple-ciphers'],
  'packages/platform-node': ['@napi-rs/keyring', '@opentelemetry/api', 'aws4fetch'],
  'packages/testkit': ['vitest'],
  'packages/ai-sdk': ['ai'],
  'packages/server-app': ['ai'],
  'packages/perdure': ['ai'],
  'packages/client': ['@ag-ui/client'],
}

/**
 * Packages that `pnpm build` bundles. None of them parses untrusted input, so an audit of the installed dependencies
 * covers everything that does.
 */
export const BUNDLED: Readonly<Record<string, readonly string[]>> = {
  'packages/sqlite': ['kysely'],
  'packages/postgres': ['kysely'],
  'packages/platform-node': ['@prometheus-io/client'],
  'packages/console': ['preact'],
  'packages/http': ['@valibot/to-json-schema'],
  'apps/cli': ['@valibot/to-json-schema', 'chokidar', 'commander'],
}

/** Upper limit for the number of third-party packages installed with a package. */
export const MAX_INSTALLED: Readonly<Record<string, number>> = {
  'packages/protocol': 1,
  'packages/ports': 1,
  'packages/core': 2,
  'packages/in-memory': 1,
  'packages/testkit': 1,
  'packages/storage': 1,
  'packages/sqlite': 3,
  'packages/postgres': 15,
  'packages/platform-node': 5,
  'packages/mcp': 14,
  'packages/http': 4,
  'packages/realtime': 3,
  'packages/interop': 2,
  'packages/ai-sdk': 2,
  'packages/client': 2,
  'packages/console': 0,
  'packages/evals': 24,
  'packages/server-app': 24,
  'packages/create-perdure': 0,
  'packages/perdure': 27,
  'apps/cli': 27,
}

/** Licences that only require keeping the licence text. */
export const LICENSES: ReadonlySet<string> = new Set([
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  '0BSD',
])
