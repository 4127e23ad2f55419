/** The settings of access logs and statistics: how an edge hands them over, and how control keeps them. */
import { byteSize, oneOf, serverUrl, textThat, textWhere, wholeNumber } from '#lib/setting-reader.ts';
import type { SettingTable } from '#lib/settings.ts';

export interface LogValues {
  readonly accessLog: 'on' | 'off';
  readonly logRotateSeconds: number;
  readonly logSpool: number;
  readonly logStore: string;
  readonly logS3Endpoint?: string;
  readonly logS3Region: string;
  readonly logS3AccessKey?: string;
  readonly logS3SecretKey?: string;
  readonly statSeconds: number;
  readonly logDays: number;
  readonly logUrl?: string;
  readonly logUrlHours: number;
}

export const LOG_SETTINGS: SettingTable<LogValues> = {
  accessLog: {
    reader: oneOf(['on', 'off']),
    default: 'on',
    description: '`off`: an edge writes no access log and counts no traffic: no log files, no statistics',
  },
  logRotateSeconds: {
    reader: wholeNumber(1, 3600),
    default: '3600',
    unit: 'seconds',
    description:
      'Age at which an edge ends a file of its access log and hands it to control; every full hour ends one too',
  },
  logSpool: {
    reader: byteSize('64MB', '1024GB'),
    default: '8GB',
    description: 'Disk for access-log files that wait for control, for all edge workers together; the oldest go first',
  },
  logStore: {
    reader: textThat(
      'local, or s3://bucket or s3://bucket/prefix',
      /^(local|s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w.-]{1,64}){0,4})$/,
    ),
    default: 'local',
    description:
      'Where control keeps log files and recordings: `local` in the data directory, or storage that speaks S3',
  },
  logS3Endpoint: {
    reader: serverUrl(),
    description: 'Of that storage; the bucket is part of the path',
  },
  logS3Region: {
    reader: textThat('letters, digits and hyphens', /^[a-z0-9-]{1,64}$/),
    default: 'us-east-1',
    description: 'Of that storage',
  },
  logS3AccessKey: {
    reader: textThat('an access key', /^[\x21-\x7e]{1,256}$/),
    secret: true,
    description: 'For that storage',
  },
  logS3SecretKey: {
    reader: textThat('a secret key', /^[\x21-\x7e]{1,256}$/),
    secret: true,
    description: 'For that storage',
  },
  statSeconds: {
    reader: wholeNumber(1, 3600),
    default: '30',
    unit: 'seconds',
    description: 'How often an edge reports its traffic to control',
  },
  logDays: {
    reader: wholeNumber(1, 3650),
    default: '30',
    unit: 'days',
    description: 'How long log files are kept',
  },
  logUrl: {
    reader: textWhere(
      'http:// or https://, a host, and perhaps a path',
      (text) => /^https?:\/\/[^\s/@?#]+(\/[^\s?#]*)?$/.test(text) && URL.canParse(text),
    ),
    description:
      'Base address of downloads (log files, recordings) in answers; without it that of the control listener',
  },
  logUrlHours: {
    reader: wholeNumber(1, 168),
    default: '24',
    unit: 'hours',
    description: 'How long the address of a download can be used',
  },
};
