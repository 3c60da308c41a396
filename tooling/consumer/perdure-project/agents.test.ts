import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { runAgent, type TestRun } from 'perdure/testing'
import { summarize, triage } from './agents.ts'
import { helpdesk } from './shop.ts'

const start = (): Promise<TestRun> => runAgent(triage, { ticket: 'A-17' }, { agents: [summarize] })

test('a ticket is closed once, a day later', async () => {
  const waiting = await start()
  equal(waiting.status, 'suspended')

  const { result } = await waiting.advance('1d')

  deepEqual(result, { summary: 'We are sorry about: A-17' })
  equal(helpdesk.closed.length, 1)
})
