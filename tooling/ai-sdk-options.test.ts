import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CALL_OPTIONS, CHAT_OPTIONS, TOOL_OPTIONS } from '../packages/ai-sdk/src/options.ts'
import { root } from './consumer/packages.ts'

const TABLES = { call: CALL_OPTIONS, tool: TOOL_OPTIONS, chat: CHAT_OPTIONS }

type Table = Readonly<Record<string, readonly [fate: string, note?: string]>>

const tableOf = (table: Table): string =>
  [
    '| Option | Effect of a durable call | |',
    '|---|---|---|',
    ...Object.entries(table).map(([name, [fate, note = '']]) => `| \`${name}\` | ${fate} | ${note} |`),
  ].join('\n')

describe('the guide to the AI SDK', () => {
  const guide = readFileSync(join(root, 'docs/guides/ai-sdk-agent.md'), 'utf8')

  it.each(Object.entries(TABLES))('has the table of the options that code decides by: %s', (name, table) => {
    const [, shown] =
      guide.match(new RegExp(`<!-- options-${name}:start -->\\n([^]*?)\\n<!-- options-${name}:end -->`)) ?? []
    expect(shown).toBe(tableOf(table))
  })
})
