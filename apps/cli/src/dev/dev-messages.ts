import type { ErrorReport } from '../error-report.ts'
import type { Listening } from '../serve/serve.ts'
import type { Interruption } from '../terminal.ts'

/** Sent to the server process before it reads the configuration. */
export interface DevSetup {
  readonly cwd: string
  readonly flags: {
    readonly config?: string | undefined
    readonly host?: string | undefined
    readonly port?: number | undefined
    readonly demo?: boolean | undefined
    /** Port of the debugger; `undefined` without one. */
    readonly inspect?: number | undefined
  }
  readonly json: boolean
  /** Whether to log every field instead of one short line per request, step and tool. */
  readonly verbose: boolean
  /** Port of the previous server, reused if the configured port is 0, so that clients can reconnect. */
  readonly boundPort: number | undefined
  /** Realm for which the existing token is valid (see `ServedFacts`); a server with another realm mints a new token. */
  readonly tokenRealm: string | undefined
}

/** An agent or workflow with an input that it accepts. */
export interface Tryable {
  readonly kind: 'agent' | 'workflow'
  readonly id: string
  /** `undefined` if no input is known that the schema of the target accepts. */
  readonly input?: unknown
}

/** What the server process reports once it listens. */
export interface ServedFacts {
  readonly listening: Listening
  readonly storagePath: string
  /** `undefined` if a pepper is configured, or no pepper is needed. */
  readonly pepperPath: string | undefined
  readonly agentIds: readonly string[]
  readonly workflowIds: readonly string[]
  readonly triggerIds: readonly string[]
  readonly hookIds: readonly string[]
  /** Agents and workflows that the banner suggests to run. */
  readonly tryable: readonly Tryable[]
  /** Where the server connects to by its configuration. */
  readonly outboundUrls: readonly string[]
  readonly hasDocs: boolean
  readonly hasConsole: boolean
  /** A single-use code for the console; `undefined` without a new token. */
  readonly consoleCode: string | undefined
  /** Identifies the database and the pepper a token is valid for; `undefined` with `auth.kind: 'none'`. */
  readonly tokenRealm: string | undefined
  /** `undefined` if the existing token is still valid, or no token is needed. */
  readonly token: string | undefined
}

/** Orders that the command sends to the server process. */
export type DevOrder =
  | { readonly type: 'prepare'; readonly setup: DevSetup }
  | { readonly type: 'start' }
  | { readonly type: 'mint' }
  | { readonly type: 'signal'; readonly signal: Extract<Interruption, { type: 'signal' }>['signal'] }
  /** Stop without draining, because a process with a new configuration takes over. */
  | { readonly type: 'replace' }

/** Reports that the server process sends to the command. */
export type DevReport =
  | { readonly type: 'imported'; readonly file: string; readonly version: string }
  | { readonly type: 'prepared' }
  | { readonly type: 'listening'; readonly facts: ServedFacts }
  | { readonly type: 'minted'; readonly token: string }
  | { readonly type: 'refused'; readonly refusal: Refusal }
  | { readonly type: 'failed'; readonly message: string }

export interface Refusal {
  readonly report: ErrorReport
  readonly text: string
  readonly exitCode: number
}
