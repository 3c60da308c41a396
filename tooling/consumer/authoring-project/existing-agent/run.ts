import { runAgent } from 'perdure/testing'
import config from './perdure.config.ts'

const support = config.agents?.[0]
if (support === undefined) throw new Error('there is no agent')
const asked = await runAgent(support, { text: 'Refund A-2' })
const ended = await asked.decide('refund', { approved: true })
process.stdout.write(JSON.stringify([asked.approvals.map(({ title }) => title), ended.result]))
