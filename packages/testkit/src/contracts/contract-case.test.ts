import { describe, expect, it } from 'vitest'
import { type ContractCase, skipsWithoutCase } from './contract-case.ts'
import { STORAGE_SUITES } from './storage.contract.ts'

describe('STORAGE_SUITES', () => {
  it('has unique case titles, so that a skip identifies one case', () => {
    const titles = STORAGE_SUITES.flatMap(({ cases }) => cases.map(({ title }) => title))

    expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([])
  })
})

describe('skipsWithoutCase', () => {
  const cases: ContractCase[] = [{ title: 'holds water', run: () => Promise.resolve() }]
  const skip = (test: string) => ({ test, reason: 'leaks' })

  it('accepts a skip that matches a case of any suite', () => {
    const suites = [
      { port: 'Empty', cases: [] },
      { port: 'Vessel', cases },
    ]

    expect(skipsWithoutCase(suites, [skip('holds water')])).toEqual([])
  })

  it('reports a skip that matches no case', () => {
    const skips = [skip('holds water'), skip('holds wine')]

    expect(skipsWithoutCase([{ port: 'Vessel', cases }], skips)).toEqual([skip('holds wine')])
  })
})
