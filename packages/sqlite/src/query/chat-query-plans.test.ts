import { EVERY_ROW, type Visibility } from '@perdure/ports'
import { chatListQuery, findChatQuery } from '@perdure/storage/queries'
import { describe, expect, it } from 'vitest'
import { beyond, ME, MIXED, newest, planOf } from './query-plans.fixture.ts'

describe('the list of chats', () => {
  const lists: readonly (readonly [index: string, Visibility])[] = [
    ['chats_by_owner (owner=? AND agent_id=?', ME],
    ['chats_by_agent (<expr>=?', EVERY_ROW],
    ['chats_by_agent (<expr>=?', MIXED],
  ]

  it.each(lists.flatMap(([index, visibility]) => [newest, beyond].map((page) => [index, visibility, page] as const)))(
    'walks %s, and finds the title and the working turn of each chat by an index',
    (index, visibility, page) => {
      const plan = planOf(chatListQuery({ visibility, page }))
      const [list = ''] = plan.split('CORRELATED SCALAR SUBQUERY 1')

      expect(list).toContain(index)
      expect(list).not.toContain('TEMP B-TREE')
      expect(plan).toMatch(/SEARCH sessions USING INDEX \w+ \(id=\?\)/)
      expect(plan).toContain('SEARCH runs USING INDEX runs_busy_by_session (session_id=?)')
      expect(plan).not.toMatch(/SCAN (?:runs|sessions|chats)/)
    },
  )

  it('finds one chat by its session', () => {
    expect(planOf(findChatQuery(ME))).toMatch(/SEARCH chats USING INDEX sqlite_autoindex_chats_1 \(session_id=\?\)/)
  })
})
