import { describe, expect, it } from 'vitest'
import { summaryOf, type TestOutcome } from './run-summary.ts'
import { missingToolIn } from './skip-reason.ts'

const outcome = (state: string, over: Partial<TestOutcome> = {}): TestOutcome => ({
  ...{ state, file: '/repo/e2e/browser.test.ts', title: 'a page works' },
  ...over,
})

describe('summaryOf', () => {
  it('ends with the counts alone when nothing was skipped', () => {
    expect(summaryOf([outcome('passed'), outcome('passed'), outcome('failed')], 2)).toEqual(['2 passed, 3 failed'])
  })

  it('names the missing tool and the files of skipped tests, one line per reason', () => {
    const lines = summaryOf(
      [
        outcome('passed'),
        outcome('skipped', { title: 'a page [needs chromium] works' }),
        outcome('skipped', { title: 'a page [needs chromium] loads', file: '/repo/e2e/docs-page.test.ts' }),
        outcome('skipped', { title: 'rules [needs promtool, curl]', file: '/repo/tooling/monitoring.test.ts' }),
        outcome('skipped', { file: '/repo/e2e/other.test.ts' }),
      ],
      0,
    )

    expect(lines).toEqual([
      '2 skipped: needs chromium (browser.test.ts, docs-page.test.ts)',
      '1 skipped: needs promtool, curl (monitoring.test.ts)',
      '1 skipped: no reason given (other.test.ts)',
      '1 passed, 0 failed, 4 skipped',
    ])
  })

  it('lists at most five files per reason', () => {
    const many = Array.from({ length: 7 }, (_, n) => outcome('skipped', { file: `/repo/${n}.test.ts` }))

    expect(summaryOf(many, 0)[0]).toBe(
      '7 skipped: no reason given (0.test.ts, 1.test.ts, 2.test.ts, 3.test.ts, 4.test.ts and 2 more files)',
    )
  })
})

describe('missingToolIn', () => {
  it('finds the tool only in a marked title', () => {
    expect(missingToolIn('a page [needs chromium] works')).toBe('needs chromium')
    expect(missingToolIn('a page needs chromium')).toBeUndefined()
  })
})
