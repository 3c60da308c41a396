import * as v from 'valibot'
import { field, section } from './section.ts'
import { bytes, hostWithPort, milliseconds, SecretReference } from './values.ts'

export const McpSection = section({
  allowHosts: field(v.array(hostWithPort), [], {
    note: 'Hosts of MCP servers that may be added over REST; include the port unless it is the default port.',
  }),
  allowHeadersRefs: field(v.array(SecretReference), [], {
    note: 'Secret references to headers that may be used for MCP servers added over REST; resolved before the server listens.',
  }),
  connectTimeoutMs: field(milliseconds(1), 10_000, {
    note: 'How long connecting to an MCP server may take, in milliseconds.',
  }),
  callTimeoutMs: field(milliseconds(1), 60_000, {
    note: 'How long a call to an MCP tool may take, in milliseconds.',
  }),
  maxResultBytes: field(bytes, 1_048_576, { note: 'Maximum size of the result of an MCP tool, in bytes.' }),
})
