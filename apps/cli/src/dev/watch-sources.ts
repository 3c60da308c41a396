import { basename, join, relative, sep } from 'node:path'
import { watch } from 'chokidar'
import { CONFIG_FILES } from '../config/find-config-file.ts'
import type { Restart } from './supervision-state.ts'
import { versionOf } from './version-of.ts'

/** Changes within this time are reported together, because editors save several files at once. */
const BATCH_MS = 20
/** A change is reported once the file size has not changed for this long, so that half-written files are not read. */
const STABLE_MS = 40

/** How often file versions are compared, because the watcher misses changes made before it watched a file. */
const RECHECK_MS = 500

export interface SourceWatch {
  /**
   * Watches one more file, which may not exist yet. The file counts as changed if its version differs from `version`,
   * the version that was read.
   */
  add(file: string, version: string): void
  close(): Promise<void>
}

export interface WatchedProject {
  readonly cwd: string
  /** If `undefined`, every possible configuration file in `cwd` is watched. */
  readonly configPath: string | undefined
  readonly configDir: string
}

/**
 * Calls `onChange` after a write, creation or removal of the configuration, an added file, or anything below `agents/`.
 */
export function watchSources(project: WatchedProject, onChange: (change: Restart) => void): SourceWatch {
  const { cwd, configPath, configDir } = project
  const changed = new Set<string>()
  const read = new Map<string, string>() // file to version
  let differed: readonly string[] = []
  let requestedAtMs = 0
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    const files = [...changed]
    changed.clear()
    onChange({ files, requestedAtMs })
  }
  const roots = configPath === undefined ? CONFIG_FILES.map((name) => join(cwd, name)) : [configPath]
  const watcher = watch([...roots, join(configDir, 'agents')], {
    ignoreInitial: true,
    awaitWriteFinish: { stabilityThreshold: STABLE_MS, pollInterval: 10 },
    ignored: (path) => isNoise(relative(configDir, path)),
  })
  const note = (path: string) => {
    if (changed.size === 0) requestedAtMs = performance.now() - STABLE_MS
    read.delete(path)
    changed.add(path)
    clearTimeout(timer)
    timer = setTimeout(flush, BATCH_MS)
  }
  watcher.on('error', () => undefined)
  watcher.on('all', (event, path) => {
    if (event !== 'addDir' && event !== 'unlinkDir') note(path)
  })
  const recheck = setInterval(() => {
    const differ = [...read.keys()].filter((file) => versionOf(file) !== read.get(file))
    for (const file of differ) if (differed.includes(file)) note(file)
    differed = differ
  }, RECHECK_MS)
  return {
    add(file, version) {
      read.set(file, version)
      watcher.add(file)
    },
    async close() {
      clearInterval(recheck)
      clearTimeout(timer)
      await watcher.close()
    },
  }
}

/** Installed packages, and temporary files that editors write next to a file while saving it. */
const isNoise = (path: string): boolean =>
  path.split(sep).includes('node_modules') || /^(?:\.[^./]|\d{4,}$)|(?:~|\.tmp|\.sw[a-z])$/.test(basename(path))
