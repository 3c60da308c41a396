import { closeSync, mkdirSync, mkdtempSync, openSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readDescriptorUse } from './descriptor-use.ts'

const HEAD = 'Limit                     Soft Limit           Hard Limit           Units     \n'

function folderWith(limits: string, open: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-descriptors-'))
  mkdirSync(join(folder, 'fd'))
  for (let number = 0; number < open; number++) writeFileSync(join(folder, 'fd', String(number)), '')
  writeFileSync(join(folder, 'limits'), `${HEAD}${limits}\n`)
  return folder
}

describe('readDescriptorUse', () => {
  it('returns the soft limit and the number of open descriptors', () => {
    const folder = folderWith('Max open files            80                   4096                 files', 3)

    expect(readDescriptorUse(folder)).toEqual({ limit: 80, open: 3 })
  })

  it('returns nothing if there is no limit, or if the system does not publish it', () => {
    const unlimited = folderWith('Max open files            unlimited            unlimited            files', 1)

    expect(readDescriptorUse(unlimited)).toBeUndefined()
    expect(readDescriptorUse('/nonexistent')).toBeUndefined()
  })

  it('counts a file that this process opens, on Linux', () => {
    const before = readDescriptorUse()
    const file = openSync('/dev/null', 'r')
    const after = readDescriptorUse()
    closeSync(file)

    const expected = { limit: before?.limit, open: (before?.open ?? 0) + 1 }
    expect(after).toEqual(process.platform === 'linux' ? expected : undefined)
  })
})
