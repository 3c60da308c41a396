import type { ErrorReport } from '../error-report.ts'
import type { Listening } from '../serve/serve.ts'
import type { Interruption } from '../terminal.ts'

/** What the process that serves is told before it reads the configuration. */
export interface DevSetup {
  readonly cwd: string
  readonly flags: {
    readonly config?: string | undefined
    readonly host?: string | undefined
    readonly port?: number | undefined
    readonly demo?: boolean | undefined
  }
  readonly json: boolean
  /** Of the server before: taken again where the configuration leaves it open, so that its readers find their way back. */
  readonly boundPort: number | undefined
  /** Where the token that is known already is good; elsewhere a new one is minted. */
  readonly tokenRealm: string | undefined
}

/** What is served, for whoever looks at it. */
export interface ServedFacts {
  readonly listening: Listening
  readonly storagePath: string
  /** Absent when one is configured or none is needed. */
  readonly pepperPath: string | undefined
  readonly agentIds: readonly string[]
  readonly workflowIds: readonly string[]
  readonly triggerIds: readonly string[]
  readonly hasDocs: boolean
  /** The database and the pepper that a token is good for; absent with `auth.kind: 'none'`. */
  readonly tokenRealm: string | undefined
  /** Absent when the one of before is still good, or none is needed. */
  readonly token: string | undefined
}

/** From the command to the process that serves. */
export type DevOrder =
  | { readonly type: 'prepare'; readonly setup: DevSetup }
  | { readonly type: 'start' }
  | { readonly type: 'mint' }
  | { readonly type: 'signal'; readonly signal: Extract<Interruption, { type: 'signal' }>['signal'] }
  /** Stop at once and in order: another configuration takes over. */
  | { readonly type: 'replace' }

/** From the process that serves to the command. */
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
