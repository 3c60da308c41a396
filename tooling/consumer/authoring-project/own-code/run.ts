import { runAgent } from 'perdure/testing'
import { summarize, triage } from './triage.ts'

const asleep = await runAgent(triage, { ticket: 'T-1' }, { agents: [summarize] })
const ended = await asleep.advance('1d')
const summary: string | undefined = ended.result?.summary
process.stdout.write(JSON.stringify([asleep.waitingFor.map(({ name }) => name), summary]))
