import type { Event, Page } from '@perdure/client'
import type { Call } from '../call.ts'
import { eventText } from '../output/event-text.ts'

export interface ReplayFlags {
  readonly raw?: boolean
}

export async function runsReplayCommand(call: Call, { run, raw }: ReplayFlags & { run: string }): Promise<void> {
  const { runs } = call.client()
  await showPages(call, (cursor) => runs.replay(run, { ...bodyOf(raw), ...(cursor === undefined ? {} : { cursor }) }))
}

export async function sessionsReplayCommand(
  call: Call,
  { session, raw }: ReplayFlags & { session: string },
): Promise<void> {
  const { sessions } = call.client()
  await showPages(call, (cursor) =>
    sessions.replay(session, { ...bodyOf(raw), ...(cursor === undefined ? {} : { cursor }) }),
  )
}

const bodyOf = (raw: boolean | undefined) => ({ limit: 200, order: 'asc' as const, ...(raw ? { raw } : {}) })

async function showPages(call: Call, readPage: (cursor?: string) => Promise<Page<Event>>): Promise<void> {
  call.out.note('this access is recorded in the audit chain')
  let cursor: string | undefined
  do {
    const page = await readPage(cursor)
    for (const event of page.items) call.out.item(event, (paint) => eventText(event, paint))
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
}
