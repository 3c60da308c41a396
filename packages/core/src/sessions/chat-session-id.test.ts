import { createHash } from 'node:crypto'
import type { SessionRecord } from '@perdure/ports'
import { aSession } from '@perdure/testkit'
import { expect, it } from 'vitest'
import { findChatSession, isChatSessionId } from './chat-session-id.ts'

const digest = { sha256: (text: string) => createHash('sha256').update(text).digest('hex') }

/** Sessions of which mallory has taken the first derived ids that are looked up. */
function takenSessions(takes: number) {
  const looked: string[] = []
  const find = async (id: string): Promise<SessionRecord | undefined> => {
    if (!isChatSessionId(id)) return undefined
    if (!looked.includes(id)) looked.push(id)
    return looked.indexOf(id) < takes ? aSession({ id, owner: 'mallory' }) : undefined
  }
  return { deps: { sessions: { find }, digest }, looked }
}

it('uses the first derived id that nobody else has taken', async () => {
  const { deps, looked } = takenSessions(3)

  const { id, session } = await findChatSession(deps, 'alice', 'support')

  expect([id, session, new Set(looked).size]).toEqual([looked[3], undefined, 4])
  expect((await findChatSession(deps, 'alice', 'support')).id).toBe(id)
})

it('refuses a chat whose derived ids are all taken by others, after a bounded number of reads', async () => {
  const { deps, looked } = takenSessions(Number.POSITIVE_INFINITY)

  await expect(findChatSession(deps, 'alice', 'support')).rejects.toMatchObject({
    code: 'validation-failed',
    message: expect.stringContaining('"support"'),
    hint: expect.stringMatching(/choose another id for the chat/),
  })
  expect(looked.length).toBeLessThanOrEqual(16)
})
