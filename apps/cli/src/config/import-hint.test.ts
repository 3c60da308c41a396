import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDir } from '../../test/temporary-dir.ts'

describe('importHint', () => {
  const dir = temporaryDir()

  /** Loads a configuration in a plain Node.js process, because the test runner would resolve the imports itself. */
  const hintOf = (text: string) => {
    const file = join(dir(), 'perdure.config.mjs')
    writeFileSync(file, text)
    const script = `
      import { loadConfigModule } from ${JSON.stringify(import.meta.resolve('./load-config-module.ts'))}
      await loadConfigModule(${JSON.stringify(file)}).catch((error) => console.log(error.hint))`
    const args = ['--conditions=perdure-source', '--input-type=module', '-e', script]
    return spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout.trim()
  }

  it.each([
    [
      "\nimport { streamText } from 'no-such-package'",
      'npm install no-such-package (imported by perdure.config.mjs:2)',
    ],
    ['import x from "@no/such-package/sub"', 'npm install @no/such-package (imported by perdure.config.mjs:1)'],
    ["import { helper } from './helper'", 'write the extension: …/helper.ts (in perdure.config.mjs:1)'],
    [
      "import { helper } from './helper.js'",
      'write the extension of the source, because Node.js runs it as it is: …/helper.ts (in perdure.config.mjs:1); set allowImportingTsExtensions for tsc',
    ],
  ])('says how to mend %j', (text, hint) => {
    writeFileSync(join(dir(), 'helper.ts'), 'export const helper = 1')

    expect(hintOf(text)).toBe(hint)
  })
})
