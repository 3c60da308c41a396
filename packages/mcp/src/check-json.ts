import type { CheckJson } from '@perdure/ports'

/** The validator that the MCP SDK bundles. A validator of its own per check keeps no schema in memory. */
export const checkJson: CheckJson = async (schema, value) => {
  const { AjvJsonSchemaValidator } = await import('@modelcontextprotocol/client/validators/ajv')
  const { errorMessage } = new AjvJsonSchemaValidator().getValidator(Object(schema))(value)
  return errorMessage
}
