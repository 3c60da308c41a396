import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { runAgent } from 'perdure/testing'
import { answer, research } from './research-agents.ts'

test('the report has an answer to each question', async () => {
  const { result } = await runAgent(research, { topic: 'tea' }, { agents: [answer] })

  equal(
    (result as { text: string }).text,
    [
      '- Tea comes from one plant, Camellia sinensis. (Leaves)',
      '- Green tea is brewed at 80 degrees, black tea at 95. (Kettles)',
    ].join('\n'),
  )
})
