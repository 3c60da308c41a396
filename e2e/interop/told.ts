import type { DurableServer } from '../durable-server.ts'

/** What a client has once its run has ended or waits for a decision that nobody takes. */
export interface Told {
  /** Missing where the protocol tells only why the run has not completed. */
  readonly text?: string
  /** The tool calls, each with how it ended; missing where the protocol shows none. */
  readonly tools?: readonly string[]
  /** The names of the approvals, each with its decision. */
  readonly approvals: readonly string[]
  readonly end: 'completed' | 'failed' | 'aborted' | 'suspended'
}

/** A run of the agent that ends in this way. `id` distinguishes the runs of one agent. */
export interface Telling {
  readonly end: Told['end']
  readonly id: string
}

/** The decision of every client on an approval of this name. Other approvals stay open. */
export const DECISIONS: ReadonlyMap<string, boolean> = new Map([
  ['refund', false],
  ['mail', true],
])

export const shown = (name: string): string => {
  const approved = DECISIONS.get(name)
  return `${name} ${approved === undefined ? 'pending' : approved ? 'approved' : 'denied'}`
}

export const sorted = (values: Iterable<string>): readonly string[] => [...new Set(values)].sort()

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const PATIENCE_MS = 60_000

/** Repeats what a client does until it has everything that the run tells. */
export async function untilTold(attempt: () => Promise<Told | undefined>): Promise<Told> {
  let cause: unknown
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await pause(25)) {
    const told = await attempt().catch((error: unknown) => {
      cause = error
    })
    if (told !== undefined) return told
  }
  throw new Error('the client did not get the end of the run', { cause })
}

export const agentOf = ({ end }: Telling) => `teller-${end}`

/** A client that follows a run to its end, whatever happens to its connections. */
export type TellingClient = (server: DurableServer, telling: Telling) => Promise<Told>
