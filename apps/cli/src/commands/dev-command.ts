import { dirname, relative } from 'node:path'
import type { Call } from '../call.ts'
import { findConfigFile } from '../config/find-config-file.ts'
import type { DevSetup } from '../dev/dev-messages.ts'
import { devView } from '../dev/dev-view.ts'
import { listenToKeys } from '../dev/key-menu.ts'
import { openBrowser } from '../dev/open-browser.ts'
import { createServerProcesses } from '../dev/server-process.ts'
import { type Supervision, supervise } from '../dev/supervise.ts'
import { type SourceWatch, watchSources } from '../dev/watch-sources.ts'

export interface DevFlags {
  readonly config?: string
  readonly host?: string
  readonly port?: number
  readonly demo?: boolean
  readonly open?: boolean
  readonly inspect?: number
  readonly verbose?: boolean
  /** `--no-watch`. */
  readonly watch?: boolean
}

/** Runs the server in a child process, replaced after each change; this process keeps the terminal. */
export async function devCommand(call: Call, flags: DevFlags): Promise<void> {
  const { terminal, out } = call
  const { cwd, env } = terminal
  const { config, host, port, demo, inspect, open, verbose = false, watch: isWatching = true } = flags
  const configPath = findConfigFile(cwd, config)
  const processes = createServerProcesses(env)
  let sources: SourceWatch | undefined
  let supervision: Supervision | undefined

  const view = devView(call, {
    watched: isWatching
      ? `${configPath === undefined ? 'perdure.config.*' : nameOf(cwd, configPath)}, agents/**`
      : undefined,
    onImported: (file, version) => sources?.add(file, version),
  })
  const openPage = () => {
    view.pageUrl().then(
      (url) => url && openBrowser(url, env, (command) => out.note(`cannot run ${command}: open ${url} yourself`)),
      (error: Error) => out.note(`cannot open the console: ${error.message}`),
    )
  }
  if (isWatching) {
    const configDir = configPath === undefined ? cwd : dirname(configPath)
    sources = watchSources({ cwd, configPath, configDir }, (change) => supervision?.restart(change))
  }
  // Must run before the first child starts: a child restores on exit the terminal mode that it found at its start.
  const stopKeys = listenToKeys(terminal, {
    open: openPage,
    mint: () => supervision?.mint(),
    restart: () => supervision?.restart({ files: [], requestedAtMs: performance.now() }),
    clear: view.clear,
    interrupt: () => supervision?.interrupt('SIGINT'),
  })
  supervision = supervise({
    spawn: processes.take,
    setup: (): DevSetup => ({
      cwd,
      flags: { config, host, port, demo, inspect },
      json: out.isJson,
      verbose,
      ...view.carriedOver(),
    }),
    interruptions: terminal.watchInterruptions(() => false),
    restartsAfterExit: isWatching,
    after: (ms, callback) => void setTimeout(callback, ms).unref(),
    view: {
      ...view,
      onListening(facts, restart) {
        view.onListening(facts, restart)
        if (open && restart === undefined) openPage()
        if (isWatching) processes.warm()
      },
    },
  })
  try {
    call.finish(await supervision.ended)
  } finally {
    stopKeys()
    processes.close()
    view.close()
    await sources?.close()
  }
}

const nameOf = (cwd: string, path: string): string => {
  const near = relative(cwd, path)
  return near.startsWith('..') ? path : near
}
