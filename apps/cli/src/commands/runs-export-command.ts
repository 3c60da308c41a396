import type { Event } from '@perdure/client'
import type { RunRecording } from '@perdure/core'
import type { Run } from '@perdure/protocol'
import type { InferOutput } from 'valibot'
import type { Call } from '../call.ts'
import { usageError } from '../cli-error.ts'
import { isClientError } from '../client-error.ts'

export interface RunsExportFlags {
  readonly run: string
  readonly fixture?: boolean
  readonly others?: boolean
  readonly raw?: boolean
}

type RunRecord = InferOutput<typeof Run>

export async function runsExportCommand(call: Call, flags: RunsExportFlags): Promise<void> {
  const { runs } = call.client()
  if (flags.fixture === true) return exportFixture(call, flags)
  if (flags.others === true || flags.raw === true) {
    throw usageError('--others and --raw need --fixture', 'add --fixture, or leave them out')
  }
  const run = await runs.get(flags.run)
  const events = await runs.events(flags.run, { limit: 200 }).all()
  const document = { run, events }
  call.out.document(document, () => textOf(document))
}

const textOf = (document: unknown): string => `${JSON.stringify(document, undefined, 2)}\n`

async function exportFixture(call: Call, flags: RunsExportFlags): Promise<void> {
  const { recordRunOf, redacted, withoutContent } = await import('@perdure/evals')
  const { runs } = call.client()
  const run = await runs.get(flags.run)
  const isOwn = run.owner === (await ownSubject(call))
  const isShown = isOwn || flags.others === true
  const events = await readEvents(call, run, { isAudited: !isOwn && isShown, raw: flags.raw === true })
  const whole: RunRecording = recordRunOf(run, events)
  const shown = isShown ? whole : withoutContent(whole)
  if (!isShown) call.out.note(`the run belongs to ${run.owner}: its content is left out; --others writes it`)
  const recording = flags.raw === true && isShown ? shown : redacted(shown)
  call.out.document(recording, () => textOf(recording))
}

/** The subject of the token; `undefined` for callers without one, such as users of an issuer. */
async function ownSubject({ client }: Call): Promise<string | undefined> {
  try {
    return (await client().tokens.self()).subject
  } catch (error) {
    if (isClientError(error) && error.code === 'token-not-found') return undefined
    throw error
  }
}

interface Access {
  readonly isAudited: boolean
  readonly raw: boolean
}

/** Reads the events. Those of others, and secrets, come by the replay, which checks a scope and writes an audit entry. */
async function readEvents(
  { client, out }: Call,
  { id }: RunRecord,
  { isAudited, raw }: Access,
): Promise<readonly Event[]> {
  const { runs } = client()
  if (!isAudited && !raw) return runs.events(id, { limit: 200 }).all()
  out.note('this access is recorded in the audit chain')
  const events: Event[] = []
  let cursor: string | undefined
  do {
    const page = await runs.replay(id, {
      limit: 200,
      order: 'asc',
      ...(raw ? { raw } : {}),
      ...(cursor === undefined ? {} : { cursor }),
    })
    events.push(...page.items)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return events
}
