import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'rolldown'
import type { Plugin } from 'vitest/config'
import { planBundles } from './build/bundle.ts'

const SQLITE = join(import.meta.dirname, '../packages/sqlite')
const HOST = join(SQLITE, 'src/host/worker-host.ts')
const SPECIFIER = "'./storage-worker.ts'"

/**
 * Bundles the storage thread of tests from the current source into one JavaScript file. Without the bundle, each thread
 * would compile a WebAssembly program to strip types: a third of a second, thousands of times per test run. After many
 * such compilations, V8 is also known to fail a check of its list of code pages, which ends the process with SIGTRAP.
 */
export function testThread(): Plugin {
  let bundled: Promise<string> | undefined
  return {
    name: 'test-thread',
    enforce: 'pre',
    // The bundle depends on more files than the key of a cached module does.
    configureVitest: ({ defineCacheKeyGenerator }) =>
      defineCacheKeyGenerator(({ id }) => (id === HOST ? false : undefined)),
    async transform(code, id) {
      if (id !== HOST) return undefined
      if (!code.includes(SPECIFIER)) throw new Error(`${HOST} starts no thread from ${SPECIFIER}`)
      bundled ??= bundleThread()
      return code.replace(SPECIFIER, JSON.stringify(pathToFileURL(await bundled).href))
    },
  }
}

async function bundleThread(): Promise<string> {
  // Inside the package, so that the thread can resolve the package's dependencies.
  const cache = join(SQLITE, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const dir = mkdtempSync(join(cache, 'thread-'))
  const plans = planBundles({
    ...{ entries: [], threads: [join(SQLITE, 'src/host/storage-worker.ts')] },
    ...{ external: [], externalOfThreads: ['better-sqlite3', 'better-sqlite3-multiple-ciphers'] },
    ...{ dir, supply: { folder: SQLITE, notices: join(dir, 'notices'), sbom: join(dir, 'sbom') } },
  })
  await build(plans.filter(({ output }) => output?.format === 'cjs'))
  const file = join(cache, 'storage-worker.cjs')
  renameSync(join(dir, 'storage-worker.cjs'), file)
  rmSync(dir, { recursive: true })
  return file
}
