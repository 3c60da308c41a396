import { configDefaults, defineConfig } from 'vitest/config'
import type { Reporter, TestModule } from 'vitest/node'
import { ON_POSTGRES_TOO, SQLITE_ONLY } from './e2e/storage-suites.ts'
import { findTool } from './tooling/machine-tools.ts'
import { summaryOf, type TestOutcome } from './tooling/run-summary.ts'
import { testThread } from './tooling/test-thread.ts'

const summary: Reporter = {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandledErrors) {
    const outcomes: TestOutcome[] = []
    let otherFailures = unhandledErrors.length
    for (const module of modules) {
      const suites = [...module.children.allSuites()]
      otherFailures += [module, ...suites].filter((one) => one.errors().length > 0).length
      for (const test of module.children.allTests()) {
        const result = test.result()
        const note = result.state === 'skipped' ? result.note : undefined
        outcomes.push({ state: result.state, file: module.moduleId, title: test.fullName, note })
      }
    }
    setImmediate(() => console.log(summaryOf(outcomes, otherFailures).join('\n')))
  },
}

const conditions = ['perdure-source', 'module', 'node', 'development|production']

/**
 * Generous limits, because a slow machine only takes longer. A test of a promised time has a bound of its own, several
 * times the promise.
 */
const GENEROUS = { testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: 60_000 } } }

/**
 * The test files of a project share a few processes, which load the sources once. This halves the processor time, but a
 * server that a test leaves running would meet the tests after it.
 */
const SHARED_PROCESS = { isolate: false }

/** Tests that start programs or threads, or open database files, and a database server for those of PostgreSQL. */
const WITH_DATABASE = [
  'packages/{server-app,sqlite,platform-node,chat-sdk}/src/**/*.test.ts',
  'apps/*/src/**/*.test.ts',
]

/**
 * Each of these files has a process of its own: it starts a watchdog, which ends the process when a later test blocks the
 * event loop, or it ends the connections of the process to the database.
 */
const OWN_PROCESS = [
  'apps/cli/src/{run-cli,commands/server-command,serve/stray-errors}.test.ts',
  'packages/platform-node/src/watchdog/*.test.ts',
  'packages/{postgres,create-perdure}/src/**/*.test.ts',
]

/** PROPERTY_RUNS=100000 runs each property test 100,000 times, unless the test sets numRuns. */
const propertyRuns = process.env.PROPERTY_RUNS === undefined ? [] : ['tooling/property-runs.ts']

/** Fails a test in which a server answers with an error that its operation does not declare. */
const setupFiles = ['tooling/undeclared-errors.ts', ...propertyRuns]

/** The other torture suites attack the database file. */
const sqliteSuites = [
  'e2e/torture/!(postgres-kills).test.ts',
  ...Object.keys(SQLITE_ONLY).map((name) => `e2e/${name}.test.ts`),
]

export default defineConfig({
  plugins: [testThread()],
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    pool: 'forks',
    // On two cores, three more workers use the time in which the tests of the other two wait for servers.
    maxWorkers: 5,
    reporters: ['default', summary],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...WITH_DATABASE, ...OWN_PROCESS],
          ...SHARED_PROCESS,
          ...GENEROUS,
          setupFiles,
        },
      },
      {
        extends: true,
        test: {
          name: 'unit-with-database',
          include: WITH_DATABASE,
          exclude: [...configDefaults.exclude, ...OWN_PROCESS],
          ...SHARED_PROCESS,
          ...GENEROUS,
          globalSetup: ['tooling/postgres-setup.ts'],
          setupFiles,
        },
      },
      {
        extends: true,
        test: {
          name: 'unit-isolated',
          include: OWN_PROCESS,
          ...GENEROUS,
          globalSetup: ['tooling/postgres-setup.ts'],
          setupFiles,
        },
      },
      {
        extends: true,
        // The tests of the stages and routes again, as if another HTTP server had received the requests below /ai.
        test: {
          ...GENEROUS,
          ...SHARED_PROCESS,
          name: 'mounted',
          include: ['packages/http/src/*.test.ts', 'packages/http/src/{stages,routes,response,telemetry}/*.test.ts'],
          env: { HTTP_MOUNT_PATH: '/ai' },
          setupFiles,
        },
      },
      {
        extends: true,
        // The tests of the package for the AI SDK again, with version 6 in place of version 7.
        resolve: {
          alias: [
            { find: /^ai$/, replacement: 'ai6' },
            { find: /^ai\/test$/, replacement: 'ai6/test' },
            { find: /^@ai-sdk\/mcp$/, replacement: 'ai-sdk-mcp-1' },
          ],
        },
        test: {
          ...GENEROUS,
          ...SHARED_PROCESS,
          name: 'ai-sdk-6',
          include: ['packages/ai-sdk/src/**/*.test.ts'],
          setupFiles,
        },
      },
      {
        extends: true,
        // A test of a project outside the workspace is executed there.
        test: {
          ...GENEROUS,
          name: 'tooling',
          include: ['tooling/**/*.test.ts'],
          exclude: [...configDefaults.exclude, 'tooling/consumer/**'],
        },
      },
      {
        extends: true,
        test: {
          ...GENEROUS,
          name: 'e2e',
          include: ['e2e/**/*.test.ts'],
          // Set in any case: a worker may have executed a suite of the next project before.
          env: { E2E_STORAGE: process.env.E2E_STORAGE ?? 'sqlite' },
          exclude: [
            ...configDefaults.exclude,
            'e2e/{on-postgres,database-faults,model-on-postgres,cluster-on-postgres,rolling-upgrade,torture/postgres-kills,cluster/cluster}.test.ts',
            ...(process.env.E2E_STORAGE === 'postgres' ? sqliteSuites : []),
          ],
          globalSetup: ['e2e/storage-setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          ...GENEROUS,
          name: 'e2e-postgres',
          include: [
            'on-postgres',
            'database-faults',
            'model-on-postgres',
            'cluster-on-postgres',
            'rolling-upgrade',
            'torture/postgres-kills',
            'cluster/cluster',
            ...(findTool('postgres') === undefined ? [] : ON_POSTGRES_TOO),
          ].map((name) => `e2e/${name}.test.ts`),
          env: { E2E_STORAGE: 'postgres' },
          globalSetup: ['e2e/postgres-setup.ts'],
        },
      },
    ],
    coverage: {
      provider: 'v8',
      include: ['{packages,apps}/*/src/**'],
      reporter: ['text-summary', 'lcov'],
    },
  },
})
