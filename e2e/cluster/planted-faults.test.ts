import { describe, expect, it } from 'vitest'
import { type Edit, edited, PLANTED_FAULTS } from './planted-faults.ts'

describe.each(Object.entries<readonly Edit[]>(PLANTED_FAULTS))('the planted fault %s', (_, edits) => {
  it.each(edits)('fits $file', (edit) => {
    expect(edited(edit)).toContain(edit.replace)
  })
})
