import type { Part } from './model.ts'
import { addPart, isFlat, recordable, revived } from './recorded-parts.ts'

interface Relay {
  readonly signal: AbortSignal
  /** Called for each part, so that a model that sends is not taken for one that stalls. */
  readonly progress: (part: Part) => void
  /** Gives tool calls ids that are unique in the run. */
  readonly withOwnIds: (part: Part) => Part
  readonly log: { write(part: Part): Promise<void> | undefined }
  /** Passes a part to the SDK. */
  readonly send: (part: Part) => void
}

interface Relayed {
  /** All parts, as they are recorded. */
  readonly parts: readonly Part[]
  /** How many of them the SDK has. */
  readonly sent: number
}

/** From the first of these parts on, the SDK acts on the answer. */
const DECISIVE: ReadonlySet<unknown> = new Set(['tool-call', 'finish'])

/** Logs an answer while it comes, and passes on what precedes the first part on which the SDK acts. */
export async function relay(
  source: AsyncIterable<Part>,
  { signal, progress, withOwnIds, log, send }: Relay,
): Promise<Relayed> {
  const parts: Part[] = []
  let sent = 0
  let isDecided = false
  for await (const said of source) {
    if (signal.aborted) throw signal.reason
    progress(said)
    if (said.type === 'raw') continue
    const given = withOwnIds(said)
    const isSame = isFlat(given)
    const part = isSame ? given : (recordable(given) as Part)
    const writing = log.write(given.type === 'error' ? given : part)
    if (writing !== undefined) await writing
    addPart(parts, part)
    isDecided ||= DECISIVE.has(part.type)
    if (isDecided) continue
    send(isSame ? given : revived(given))
    sent = parts.length
  }
  return { parts, sent }
}
