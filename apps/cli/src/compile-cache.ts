import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * Keeps what V8 makes of the code for the next start, in the cache folder of the user; threads and processes that are started
 * from here use it too. Where there is none, nothing is kept. NODE_COMPILE_CACHE names another folder, and
 * NODE_DISABLE_COMPILE_CACHE keeps nothing.
 */
export function keepCompiledCode(): void {
  const folder = process.env.NODE_COMPILE_CACHE ?? cacheFolder()
  if (folder === undefined || enableCompileCache(folder).directory === undefined) return
  process.env.NODE_COMPILE_CACHE = folder
}

function cacheFolder(): string | undefined {
  const { XDG_CACHE_HOME } = process.env
  if (XDG_CACHE_HOME) return join(XDG_CACHE_HOME, 'perdure')
  const home = homedir()
  return home === '' || home === '/' || home === '/nonexistent' ? undefined : join(home, '.cache', 'perdure')
}
