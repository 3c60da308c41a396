import * as v from 'valibot'
import { field, section } from './section.ts'
import { bytes, hostWithPort } from './values.ts'

export const FilesSection = section({
  maxBytes: field(bytes, 33_554_432, { note: 'Maximum size of a file, in bytes.' }),
  maxBytesPerOwner: field(bytes, 1_073_741_824, {
    note: 'Maximum size of all files of one owner together, in bytes.',
  }),
  allowHosts: field(v.array(hostWithPort), [], {
    note: 'Hosts from which the server may load files that clients link to although their addresses are not public; include the port unless it is the default port.',
  }),
})
