import { describe, it } from 'vitest'
import { expectSameAfterCrash } from './crash-check.fixture.ts'
import { PROGRAMS } from './crash-programs.fixture.ts'
import { MORE_PROGRAMS } from './more-crash-programs.fixture.ts'
import { SDK_PROGRAMS } from './sdk-crash-programs.fixture.ts'

const ALL = Object.entries({ ...PROGRAMS, ...MORE_PROGRAMS, ...SDK_PROGRAMS })

describe.each(ALL.map(([name, program], index) => ({ name, program, index })))('$name', ({ program, index }) => {
  it('is the same after a crash', () => expectSameAfterCrash(program, index))
})
