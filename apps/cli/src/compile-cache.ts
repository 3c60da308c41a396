import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * Caches compiled code in the cache folder of the user, for later starts and for child threads and processes. Does
 * nothing if there is no such folder. NODE_COMPILE_CACHE names another folder; NODE_DISABLE_COMPILE_CACHE disables the
 * cache.
 */
export function useCompileCache(): void {
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
