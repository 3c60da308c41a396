import { equal, partialDeepStrictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { runWorkflow } from 'perdure/testing'
import { assess } from './agents/assess.ts'
import { refund } from './workflows/refund.ts'

const start = () => {
  const order = { orderId: 'A-17', amount: 40, reason: 'wrong size' }
  return runWorkflow(refund, order, { agents: [assess] })
}

test('a refund waits for a decision, then pays', async () => {
  const waiting = await start()
  equal(waiting.status, 'suspended')

  const { status, result } = await waiting.decide('refund', { approved: true })

  equal(status, 'completed')
  partialDeepStrictEqual(result, { paid: true })
})

test('a refund without a decision is not paid after a week', async () => {
  const { result } = await (await start()).advance('7d')

  partialDeepStrictEqual(result, { paid: false })
})
