import type { InferChatMessage } from 'perdure/ai-sdk'
import { runAgent } from 'perdure/testing'
import config from './perdure.config.ts'

const support = config.agents?.[0]
if (support === undefined) throw new Error('there is no agent')
const asked = await runAgent(support, { text: 'Refund A-2' })
const ended = await asked.decide('refund', { approved: true })
process.stdout.write(JSON.stringify([asked.approvals.map(({ title }) => title), ended.result]))

type Part = InferChatMessage<typeof support>['parts'][number]

/** What a page shows of the tool that it knows. */
export const amountIn = (part: Part): number | undefined =>
  part.type === 'tool-refund' && part.state === 'output-available' ? part.input.amount : undefined
// @ts-expect-error the agent has no such tool
export const other = (part: Part): boolean => part.type === 'tool-other'
