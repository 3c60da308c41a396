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
  'packages/chat-sdk': [],
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
  'packages/platform-node': ['@napi-rs/keyring', '@opentelemetry/api', 'aws4fetch', 'openid-client'],
  'packages/testkit': ['vitest'],
  'packages/ai-sdk': ['ai'],
  'packages/chat-sdk': ['chat'],
  'packages/server-app': ['ai'],
  'packages/perdure': ['ai', 'chat'],
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
  'packages/chat-sdk': 4,
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

/** Upper limit for the size of each tarball in kB. A package that outgrows it needs a decision: what made it larger, and for whom. */
export const MAX_TARBALL_KB: Readonly<Record<string, number>> = {
  '@perdure/ai-sdk': 105,
  '@perdure/chat-sdk': 40,
  '@perdure/cli': 480,
  '@perdure/client': 75,
  '@perdure/console': 330,
  '@perdure/core': 1_050,
  '@perdure/evals': 65,
  '@perdure/http': 150,
  '@perdure/in-memory': 95,
  '@perdure/interop': 260,
  '@perdure/mcp': 30,
  '@perdure/platform-node': 160,
  '@perdure/ports': 100,
  '@perdure/postgres': 510,
  '@perdure/protocol': 380,
  '@perdure/realtime': 85,
  '@perdure/server-app': 190,
  '@perdure/sqlite': 790,
  '@perdure/testkit': 330,
  'create-perdure': 30,
  perdure: 260,
}
