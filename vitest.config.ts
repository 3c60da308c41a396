import { defineConfig } from 'vitest/config'
import type { Reporter, TestModule } from 'vitest/node'
import { testThread } from './tooling/test-thread.ts'

const summary: Reporter = {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandledErrors) {
    const counts = { passed: 0, failed: 0, skipped: 0 }
    for (const module of modules) {
      const suites = [...module.children.allSuites()]
      counts.failed += [module, ...suites].filter((one) => one.errors().length > 0).length
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state in counts) counts[state as keyof typeof counts]++
      }
    }
    counts.failed += unhandledErrors.length
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
    setImmediate(() => console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`))
  },
}

const conditions = ['perdure-source', 'module', 'node', 'development|production']

/** Generous limits, because no test asserts a duration: a slow machine only takes longer. */
const GENEROUS = { testTimeout: 300_000, hookTimeout: 120_000, expect: { poll: { timeout: 60_000 } } }

export default defineConfig({
  plugins: [testThread()],
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    pool: 'forks',
    maxWorkers: 2,
    reporters: ['default', summary],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'apps/*/src/**/*.test.ts'],
          ...GENEROUS,
          // PROPERTY_RUNS=100000 runs each property test 100,000 times, unless the test sets numRuns.
          setupFiles: process.env.PROPERTY_RUNS === undefined ? [] : ['tooling/property-runs.ts'],
        },
      },
      { extends: true, test: { ...GENEROUS, name: 'tooling', include: ['tooling/**/*.test.ts'] } },
      {
        extends: true,
        test: { ...GENEROUS, name: 'e2e', include: ['e2e/**/*.test.ts'] },
      },
    ],
    coverage: {
      provider: 'v8',
      include: ['{packages,apps}/*/src/**'],
      reporter: ['text-summary', 'lcov'],
    },
  },
})
