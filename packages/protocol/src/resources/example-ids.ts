export const RUN_ID = 'run_01k5x3v8qk7m2n9b4c6d8f0g1h'
export const APPROVAL_ID = 'apr_01k5x3v8qk7m2n9b4c6d8f0g1h'
