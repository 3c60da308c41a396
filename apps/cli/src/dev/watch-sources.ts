import { basename, join, relative, sep } from 'node:path'
import { watch } from 'chokidar'
import { CONFIG_FILES } from '../config/find-config-file.ts'
import type { Restart } from './supervise.ts'

/** Editors save several files at once. */
const TOGETHER_MS = 20
/** Half a file is no change: its size must have stood still this long. */
const WHOLE_MS = 40

export interface SourceWatch {
  /** Watches one more file, which need not be there yet. */
  add(file: string): void
  close(): Promise<void>
}

export interface WatchedPlace {
  readonly cwd: string
  /** Without one, each that could be found in `cwd`. */
  readonly configPath: string | undefined
  readonly configDir: string
}

/** Calls `onChange` after the configuration, a file that was added, or anything below `agents/` was written, made or removed. */
export function watchSources(place: WatchedPlace, onChange: (change: Restart) => void): SourceWatch {
  const { cwd, configPath, configDir } = place
  const changed = new Set<string>()
  let askedAtMs = 0
  let timer: NodeJS.Timeout | undefined
  const tell = () => {
    const files = [...changed]
    changed.clear()
    onChange({ files, askedAtMs })
  }
  const roots = configPath === undefined ? CONFIG_FILES.map((name) => join(cwd, name)) : [configPath]
  const watcher = watch([...roots, join(configDir, 'agents')], {
    ignoreInitial: true,
    awaitWriteFinish: { stabilityThreshold: WHOLE_MS, pollInterval: 10 },
    ignored: (path) => isNoise(relative(configDir, path)),
  })
  watcher.on('error', () => undefined)
  watcher.on('all', (event, path) => {
    if (event === 'addDir' || event === 'unlinkDir') return
    if (changed.size === 0) askedAtMs = performance.now() - WHOLE_MS
    changed.add(path)
    clearTimeout(timer)
    timer = setTimeout(tell, TOGETHER_MS)
  })
  return {
    add: (file) => void watcher.add(file),
    async close() {
      clearTimeout(timer)
      await watcher.close()
    },
  }
}

/** Installed packages, and what editors write beside a file while they save it. */
const isNoise = (path: string): boolean =>
  path.split(sep).includes('node_modules') || /^(?:\.[^./]|\d{4,}$)|(?:~|\.tmp|\.sw[a-z])$/.test(basename(path))
