import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { beginFold, foldLog, type LogEvent, outputText, transcriptOf } from '../packages/interop/src/index.ts'
import { eventually, startDurableServer } from './durable-server.ts'

const CONFIG = join(import.meta.dirname, 'fixtures/ai-sdk.config.mjs')
const WORDS = Array.from({ length: 500 }, (_, n) => `w${n + 1} `).join('')

describe('a model call that has streamed 499 of 500 deltas when its server is killed', () => {
  it('is paid for once more at most, and its text is shown once', async () => {
    const server = await startDurableServer(CONFIG)
    const { runId } = (await server.post('/agents/writer/stream', {})).body
    const readLog = async () => {
      const events: LogEvent[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const after: string = cursor === '' ? '' : `&cursor=${cursor}`
        const page: { readonly items: readonly LogEvent[]; readonly nextCursor: string | null } = (
          await server.get<typeof page>(`/runs/${runId}/events?order=asc&limit=200${after}`)
        ).body
        events.push(...page.items)
        cursor = page.nextCursor
      }
      return events
    }
    const said = async () => (await readLog()).filter(({ type }) => type === 'text.delta').length
    await eventually(said).toBe(500)
    await server.restart()
    await eventually(async () => (await server.run(runId)).status).toBe('completed')

    expect(server.ledger()).toEqual(['called', 'called'])
    const log = await readLog()
    const { items, result, usage } = transcriptOf(foldLog(log, beginFold(runId)))
    expect(outputText({ items, result })).toBe(`Here it comes. \n\n${WORDS}`)
    expect(result).toEqual({ text: WORDS })
    expect(usage).toMatchObject([{ provider: 'mock', model: 'words-1', inputTokens: 20, outputTokens: 500 }])
    expect(log.filter(({ type }) => type === 'run.rewound')).toHaveLength(1)

    // A reader that folds as the events come sees, after the crash, no text beyond the answer.
    let state = beginFold(runId)
    const rewound = log.findIndex(({ type }) => type === 'run.rewound')
    for (const [index, event] of log.entries()) {
      state = foldLog([event], state)
      const text = outputText(transcriptOf(state))
      if (index >= rewound) expect(`Here it comes. \n\n${WORDS}`.startsWith(text)).toBe(true)
    }
  })
})
