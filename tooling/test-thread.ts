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
 * Tests begin the storage thread from one file of JavaScript, bundled from the source as it stands. A thread that strips types
 * compiles a program of WebAssembly first: a third of a second each, thousands of times in a run. V8 is known to fail a check of
 * its list of pages with code after many of those, which ends the process with SIGTRAP.
 */
export function testThread(): Plugin {
  let bundled: Promise<string> | undefined
  return {
    name: 'test-thread',
    enforce: 'pre',
    async transform(code, id) {
      if (id !== HOST) return undefined
      if (!code.includes(SPECIFIER)) throw new Error(`${HOST} begins no thread from ${SPECIFIER}`)
      bundled ??= bundleThread()
      return code.replace(SPECIFIER, JSON.stringify(pathToFileURL(await bundled).href))
    },
  }
}

async function bundleThread(): Promise<string> {
  // Below the package, so that the thread finds what the package depends on.
  const cache = join(SQLITE, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const dir = mkdtempSync(join(cache, 'thread-'))
  const plans = planBundles({
    ...{ entries: [], threads: [join(SQLITE, 'src/host/storage-worker.ts')] },
    ...{ external: [], externalOfThreads: ['better-sqlite3', 'better-sqlite3-multiple-ciphers'] },
    ...{ dir, notices: join(dir, 'notices') },
  })
  await build(plans.filter(({ output }) => output?.format === 'cjs'))
  const file = join(cache, 'storage-worker.cjs')
  renameSync(join(dir, 'storage-worker.cjs'), file)
  rmSync(dir, { recursive: true })
  return file
}
