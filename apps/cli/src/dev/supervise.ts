import type { Interruptions } from '../terminal.ts'
import type { DevReport, DevSetup, Refusal, ServedFacts } from './dev-messages.ts'
import type { ServerProcess, ServerProcessEvents } from './server-process.ts'
import { begin, next } from './supervision-machine.ts'
import type {
  Restart,
  Signal,
  SupervisionCommand,
  SupervisionEvent,
  SupervisionState,
  Transition,
} from './supervision-state.ts'

export interface SupervisionView {
  onListening(facts: ServedFacts, restart: Restart | undefined): void
  /** `isServing`: whether a server with the previous configuration keeps running. */
  onRefused(refusal: Refusal, isServing: boolean): void
  /** The server exited on its own. */
  onEnded(exitCode: number): void
  onMinted(token: string): void
  onFailed(message: string): void
  onImported(file: string, version: string): void
}

export interface SuperviseDeps {
  spawn(events: ServerProcessEvents): ServerProcess
  /** Setup of the next process. */
  setup(): DevSetup
  readonly interruptions: Interruptions
  readonly view: SupervisionView
  /** Whether to wait for the next change when the server exits, instead of ending. */
  readonly restartsAfterExit: boolean
  after(ms: number, callback: () => void): void
}

export interface Supervision {
  /** Resolves with the exit code. */
  readonly ended: Promise<number>
  restart(restart: Restart): void
  mint(): void
  /** Handles the signal as if this process had received it. */
  interrupt(signal: Signal): void
}

/**
 * Keeps one server running, each configuration in its own process. A new configuration is validated while the current
 * server runs. If it is valid, the current server stops and releases its storage lease, and the new one starts.
 */
export function supervise(deps: SuperviseDeps): Supervision {
  const { view } = deps
  const { promise: ended, resolve: end, reject: fail } = Promise.withResolvers<number>()
  const processes = new Map<number, ServerProcess>()

  const spawn = (id: number) => {
    const process = deps.spawn({
      onReport: (report) => onReport(id, report),
      onEnd(exitCode) {
        processes.delete(id)
        dispatch({ type: 'exited', id, exitCode })
      },
    })
    processes.set(id, process)
    process.order({ type: 'prepare', setup: deps.setup() })
  }

  const onReport = (id: number, report: DevReport) => {
    if (report.type === 'imported') view.onImported(report.file, report.version)
    else if (report.type === 'minted') view.onMinted(report.token)
    else if (report.type === 'failed') view.onFailed(report.message)
    else dispatch({ ...report, id })
  }

  const execute = (command: SupervisionCommand) => {
    switch (command.type) {
      case 'spawn':
        spawn(command.id)
        break
      case 'order':
        processes.get(command.id)?.order(command.order)
        break
      case 'kill':
        processes.get(command.id)?.kill()
        break
      case 'schedule':
        deps.after(command.ms, () => dispatch(command.event))
        break
      case 'show-listening':
        view.onListening(command.facts, command.restart)
        break
      case 'show-refused':
        view.onRefused(command.refusal, command.isServing)
        break
      case 'show-exited':
        view.onEnded(command.exitCode)
        break
      case 'end':
        end(command.exitCode)
        break
    }
  }

  const apply = ([after, commands]: Transition) => {
    state = after
    commands.forEach(execute)
  }
  const dispatch = (event: SupervisionEvent) => apply(next(state, event))

  const listen = async (): Promise<never> => {
    for (;;) {
      const interruption = await deps.interruptions.next()
      if (interruption.type === 'crash') throw interruption.error
      dispatch(interruption)
    }
  }

  listen().catch(fail)
  let state: SupervisionState
  apply(begin(deps.restartsAfterExit))
  return {
    ended,
    restart: (restart) => dispatch({ type: 'restart', restart }),
    mint: () => dispatch({ type: 'mint' }),
    interrupt: (signal) => dispatch({ type: 'signal', signal }),
  }
}
