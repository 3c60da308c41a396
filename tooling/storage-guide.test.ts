import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { interfaceMembers } from './derive/interface-members.ts'

const guide = readFileSync(join(import.meta.dirname, '../docs/guides/swap-a-storage-adapter.md'), 'utf8')

describe('the guide to storage adapters', () => {
  it('lists exactly the members of the Storage interface', () => {
    const [table = ''] = /^\| Member \|.*?\n\n/ms.exec(guide) ?? []
    const listed = [...table.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = '']) => cell.match(/(?<=`)\w+/g) ?? [])
    const members = interfaceMembers('packages/ports/src/storage.ts', 'Storage')

    expect(listed.toSorted()).toEqual(members.map(({ signature }) => /^\w+/.exec(signature)?.[0]).toSorted())
  })
})
