import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { runAgent } from 'perdure/testing'
import { support } from './support-agent.ts'

test('the agent looks up an order without asking', async () => {
  const { status, result } = await runAgent(support, { text: 'Where is A-17?' })

  equal(status, 'completed')
  match(result?.text ?? '', /a red scarf/)
})

test('a large refund waits for a person', async () => {
  const waiting = await runAgent(support, { text: 'Please refund A-17' })
  equal(waiting.status, 'suspended')
  deepEqual(
    waiting.approvals.map(({ title }) => title),
    ['Refund the order'],
  )

  const { result } = await waiting.decide('refund', { approved: true })

  match(result?.text ?? '', /"refunded":80/)
})

test('a refund that is denied is not made', async () => {
  const waiting = await runAgent(support, { text: 'Please refund A-17' })
  const { result } = await waiting.decide('refund', { approved: false, reason: 'worn for a year' })

  match(result?.text ?? '', /worn for a year/)
})
