import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const page = join(import.meta.dirname, '..')
const sources = readdirSync(page, { recursive: true, encoding: 'utf8' }).filter((file) =>
  /(?<!\.test)\.tsx?$/.test(file),
)
const filesWith = (pattern: RegExp) =>
  sources
    .filter((file) => pattern.test(readFileSync(join(page, file), 'utf8')))
    .map((file) => file.replaceAll('\\', '/'))

it('lets only the card of an approval, which shows the whole request, send a decision', () => {
  expect(filesWith(/approvals\s*\.resolve\b|approval-responded|decisions?:\s*\[/)).toEqual([
    'approvals/approval-card.tsx',
  ])
})

it('lets nobody approve while the card shows only the beginning of the request', () => {
  const card = readFileSync(join(page, 'approvals/approval-card.tsx'), 'utf8')
  expect(card).toContain('disabled={isBusy || !isShown} onClick={() => void decide(true)}')
  expect(card).toContain('(approved && !isShown)')
})
