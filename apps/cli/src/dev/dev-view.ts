import { relative } from 'node:path'
import type { Call } from '../call.ts'
import { perdureCommand } from '../perdure-command.ts'
import { listeningUrl } from '../serve/listening-url.ts'
import { consoleLink } from '../server-access/console-link.ts'
import { devSessionPath, removeDevSession, writeDevSession } from '../server-access/dev-session.ts'
import { writeDocument } from '../terminal.ts'
import { readVersion } from '../version.ts'
import { devBanner } from './dev-banner.ts'
import type { DevSetup, ServedFacts } from './dev-messages.ts'
import { KEY_HINT } from './key-menu.ts'
import type { SupervisionView } from './supervise.ts'
import type { Restart } from './supervision-state.ts'

export interface DevView extends SupervisionView {
  /** What the next process takes over from the previous one. */
  carriedOver(): Pick<DevSetup, 'boundPort' | 'tokenRealm'>
  /** URL of the console with a new code, or of the docs page if the console is off; `undefined` until a server listens. */
  pageUrl(): Promise<string | undefined>
  clear(): void
  close(): void
}

export interface DevViewOptions {
  /** Such as `perdure.config.mjs, agents/**`; `undefined` without watching. */
  readonly watched: string | undefined
  readonly onImported: SupervisionView['onImported']
}

const CLEAR = '\u001b[2J\u001b[3J\u001b[H'

/** Prints the output of `perdure dev` and maintains the session file that other commands in this folder use. */
export function devView({ terminal, out }: Call, { watched, onImported }: DevViewOptions): DevView {
  const { cwd, stdout, stderr } = terminal
  let served: ServedFacts | undefined
  let token: string | undefined

  const saveSession = ({ listening }: ServedFacts) =>
    writeDevSession(cwd, { url: listeningUrl(listening), pid: process.pid, ...(token === undefined ? {} : { token }) })

  /** The token for stdout, which only a terminal gets: other outputs, such as the log of a CI job, are stored. */
  const shownToken = () =>
    stdout.isTTY === true ? { token } : token === undefined ? {} : { tokenFile: devSessionPath(cwd) }

  const announce = (facts: ServedFacts) => {
    const { listening, storagePath, agentIds } = facts
    if (out.isJson) {
      writeDocument(terminal, { event: 'listening', ...listening, ...shownToken(), storagePath, agents: agentIds })
      return
    }
    const value = stdout.isTTY === true ? token : undefined
    const banner = {
      ...facts,
      ...{ version: readVersion(), url: listeningUrl(listening), cwd, watched, paint: out.paint },
      token: token === undefined ? undefined : { value, file: devSessionPath(cwd) },
      command: perdureCommand(terminal),
      keys: terminal.isInteractive ? KEY_HINT : undefined,
    }
    stdout.write(devBanner(banner))
  }

  const announceRestart = ({ listening }: ServedFacts, { files, requestedAtMs }: Restart) => {
    const durationMs = Math.round(performance.now() - requestedAtMs)
    const changed = files.map((file) => shortName(cwd, file))
    if (out.isJson) writeDocument(terminal, { event: 'restarted', ...listening, durationMs, changed })
    else out.note(out.paint('green', `↻ restarted in ${durationMs} ms`) + causeText(changed))
  }

  return {
    onImported,
    onListening(facts, restart) {
      const isSame = served !== undefined && listeningUrl(served.listening) === listeningUrl(facts.listening)
      if (facts.tokenRealm !== served?.tokenRealm) token = undefined
      const isKnown = isSame && (facts.token === undefined || facts.token === token)
      token = facts.token ?? token
      served = facts
      saveSession(facts)
      if (restart !== undefined) announceRestart(facts, restart)
      if (!isKnown) announce(facts)
    },
    onRefused({ report, text }, isServing) {
      stderr.write(text)
      if (served === undefined) {
        if (out.isJson) writeDocument(terminal, report)
        return
      }
      if (out.isJson) writeDocument(terminal, { event: 'refused', isServing, ...report })
      else out.note(isServing ? 'still serving the previous configuration' : `no server is running; ${RESTART_HINT}`)
    },
    onEnded(exitCode) {
      if (out.isJson) writeDocument(terminal, { event: 'ended', exitCode })
      else out.note(`the server exited with code ${exitCode}; ${RESTART_HINT}`)
    },
    onMinted(minted) {
      token = minted
      if (served !== undefined) saveSession(served)
      if (out.isJson) writeDocument(terminal, { event: 'minted', ...shownToken() })
      else if (stdout.isTTY) stdout.write(`  Token      ${minted}  (shown once; expires in 24 h)\n`)
    },
    onFailed: (message) => out.note(`cannot create a token: ${message}`),
    carriedOver: () => ({
      boundPort: served?.listening.port,
      tokenRealm: token === undefined ? undefined : served?.tokenRealm,
    }),
    async pageUrl() {
      if (served === undefined) return undefined
      const url = listeningUrl(served.listening)
      if (!served.hasConsole) return `${url}/docs`
      const { createClient } = await import('@perdure/client')
      const client = createClient({ baseUrl: url, token, maxRetries: 0, timeoutMs: 5_000 })
      return (await consoleLink(client, url)).url
    },
    clear: () => void stdout.write(`${CLEAR}  ${KEY_HINT}\n`),
    close: () => removeDevSession(cwd, process.pid),
  }
}

const RESTART_HINT = 'the next change starts it again'

function causeText([first, ...more]: readonly string[]): string {
  if (first === undefined) return ''
  return ` (${first}${more.length === 0 ? '' : ` and ${more.length} more`})`
}

/** Relative for files below the working directory. */
const shortName = (cwd: string, file: string): string => {
  const near = relative(cwd, file)
  return near.startsWith('..') ? file : near
}
