import { basename, join, relative, sep } from 'node:path'
import { watch } from 'chokidar'
import { CONFIG_FILES } from '../config/find-config-file.ts'
import type { Restart } from './supervise.ts'
import { versionOf } from './version-of.ts'

/** Editors save several files at once. */
const TOGETHER_MS = 20
/** Half a file is no change: its size must have stood still this long. */
const WHOLE_MS = 40

/** A watcher hears nothing of before it watched: what is there is compared with what was read. What it does hear it tells sooner. */
const LOOK_AGAIN_MS = 500

export interface SourceWatch {
  /** Watches one more file, which need not be there yet. It has changed already when it is another version than was read. */
  add(file: string, version: string): void
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
  const read = new Map<string, string>() // file to version
  let differed: readonly string[] = []
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
  const note = (path: string) => {
    if (changed.size === 0) askedAtMs = performance.now() - WHOLE_MS
    read.delete(path)
    changed.add(path)
    clearTimeout(timer)
    timer = setTimeout(tell, TOGETHER_MS)
  }
  watcher.on('error', () => undefined)
  watcher.on('all', (event, path) => {
    if (event !== 'addDir' && event !== 'unlinkDir') note(path)
  })
  const looking = setInterval(() => {
    const differ = [...read.keys()].filter((file) => versionOf(file) !== read.get(file))
    for (const file of differ) if (differed.includes(file)) note(file)
    differed = differ
  }, LOOK_AGAIN_MS)
  return {
    add(file, version) {
      read.set(file, version)
      watcher.add(file)
    },
    async close() {
      clearInterval(looking)
      clearTimeout(timer)
      await watcher.close()
    },
  }
}

/** Installed packages, and what editors write beside a file while they save it. */
const isNoise = (path: string): boolean =>
  path.split(sep).includes('node_modules') || /^(?:\.[^./]|\d{4,}$)|(?:~|\.tmp|\.sw[a-z])$/.test(basename(path))
