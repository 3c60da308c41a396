import { createInMemorySkillStore } from '@perdure/in-memory'
import { describe, expect, it } from 'vitest'
import { createRegisteredSkills } from './registered-skills.ts'

const SKILL = { name: 'greet', description: 'Greets.', instructions: 'Say hello.' }

describe('createRegisteredSkills', () => {
  it('loads the store on first use, and only once', async () => {
    let loads = 0
    const store = createRegisteredSkills([SKILL], async (skills) => {
      loads++
      return createInMemorySkillStore({ skills })
    })
    expect(loads).toBe(0)

    const [first, second] = await Promise.all([store.list(), store.find('greet')])

    expect([first.map(({ name }) => name), second?.instructions, loads]).toEqual([['greet'], 'Say hello.', 1])
  })

  it('tries again after the store could not be loaded', async () => {
    let failures = 2
    const store = createRegisteredSkills([SKILL], async (skills) => {
      if (failures-- > 0) throw new Error('too many open files')
      return createInMemorySkillStore({ skills })
    })

    await expect(store.list()).rejects.toThrow('too many open files')
    await expect(store.find('greet')).rejects.toThrow('too many open files')
    expect((await store.list()).map(({ name }) => name)).toEqual(['greet'])
  })
})
