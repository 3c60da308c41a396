import { approved, casesFromFiles, defineEval, scorer } from 'perdure/evals'
import { support } from './support-agent.ts'

export const refunds = defineEval({
  name: 'refunds',
  agent: support,
  cases: casesFromFiles(new URL('cases.json', import.meta.url)),
  scorers: [
    scorer('refunds only late orders', ({ case: { expected }, toolCalls }) => {
      const refunded = toolCalls.some(({ toolName, executed }) => toolName === 'refund' && executed)
      return refunded === (expected === 'refund')
    }),
    scorer(
      'asks for late orders only',
      ({ case: { expected }, decisions }) => decisions.length === 0 || expected !== 'no refund',
    ),
    scorer('looks up first', ({ toolCalls }) => toolCalls.length === 0 || toolCalls[0]?.toolName === 'lookUp'),
  ],
  thresholds: { passRate: 0.95 },
})

export const approvals = defineEval({
  name: 'approvals',
  agent: support,
  cases: [{ id: 'a person approves each refund', turns: ['Refund A-17.', { approve: 'refund' }] }],
  scorers: [approved('refund')],
})
