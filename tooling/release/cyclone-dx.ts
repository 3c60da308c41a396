import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'

const require = createRequire(import.meta.url)
const schemaOf = (name: string) => {
  const path = require.resolve(`@cyclonedx/cyclonedx-library/package.json`)
  return JSON.parse(readFileSync(path.replace('package.json', `res/schema/${name}.SNAPSHOT.schema.json`), 'utf8'))
}

/** Schemas to which the schema of CycloneDX refers. */
const REFERRED = ['spdx', 'jsf-0.82', 'cryptography-defs']

/** Compiles the schema of CycloneDX 1.6. */
export function cycloneDxValidator(): ValidateFunction {
  const ajv = new Ajv({ strict: false })
  for (const name of REFERRED) ajv.addSchema(schemaOf(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`)
  addFormats.default(ajv)
  // Formats of internationalized names, which the validator does not know and the documents here do not need.
  ajv.addFormat('iri-reference', true)
  ajv.addFormat('idn-email', true)
  return ajv.compile(schemaOf('bom-1.6'))
}
