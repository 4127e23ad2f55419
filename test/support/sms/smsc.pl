#!/usr/bin/perl
# A carrier on Debian's Net::SMPP that can misbehave. Its options are one JSON object on the command line, orders come as JSON
# lines on standard input, and what happens goes as JSON lines to standard output; test/support/smsc.ts says what there is.
use strict;
use warnings;
use IO::Select;
use JSON::PP;
use Net::SMPP;
use Time::HiRes 'time';

my $json = JSON::PP->new->canonical;
my %option = (
    port => 0, answers => [], otherwise => 'ok', receipts => 'after', ids => 'hex', receiptIds => 'decimal', stat => 'DELIVRD',
    dialect => 'full', alreadyBound => 0, bindStatus => 0, slowMs => 200, firstId => 0x39f99dd4,
    %{ $json->decode($ARGV[0] // '{}') },
);
my ($FULL, $BARE, $TLV_ONLY) = ('full', 'bare', 'tlvOnly');
my %BIND = (1 => 'receiver', 2 => 'transmitter', 9 => 'transceiver');
$SIG{PIPE} = 'IGNORE';
$SIG{__WARN__} = sub { };
$| = 1;

my $listener = Net::SMPP->new_listen('127.0.0.1', port => $option{port}, smpp_version => 0x34, listen => 64)
    or die "listen: $!\n";
my $select = IO::Select->new($listener, \*STDIN);
my $id = $option{firstId};
my $sequence = 0;
my $orders = '';
my (%session, @later, @owed);
note(event => 'listening', port => $listener->sockport + 0);

while (1) {
    my $wait = @later ? $later[0][0] - time : undef;
    for my $ready ($select->can_read(defined $wait && $wait < 0 ? 0 : $wait)) {
        if ($ready == $listener) { welcome() }
        elsif ($ready == \*STDIN) { read_orders() }
        elsif ($session{ fileno $ready }) { serve($ready) }
    }
    (shift @later)->[1]->() while @later && $later[0][0] <= time;
}

sub note { my %event = @_; print $json->encode(\%event), "\n" }

sub after { my ($ms, $do) = @_; @later = sort { $a->[0] <=> $b->[0] } @later, [time + $ms / 1000, $do] }

sub welcome {
    my $s = $listener->accept or return;
    $select->add($s);
    $session{ fileno $s } = { socket => $s, bind => '' };
    note(event => 'connected');
}

sub leave {
    my ($s) = @_;
    return unless defined fileno $s && $session{ fileno $s };
    delete $session{ fileno $s };
    $select->remove($s);
    close $s;
    note(event => 'closed');
}

sub serve {
    my ($s) = @_;
    my $pdu = eval { $s->read_pdu } or return leave($s);
    my $cmd = $pdu->{cmd};
    my $seq = $pdu->{seq};
    if ($BIND{$cmd}) { welcome_bind($s, $pdu) }
    elsif ($cmd == 0x4) { take($s, $pdu) }
    elsif ($cmd == 0x15) { note(event => 'enquire'); $s->enquire_link_resp(seq => $seq) unless $option{deaf} }
    elsif ($cmd == 0x6) { note(event => 'unbind'); $s->unbind_resp(seq => $seq) }
    elsif ($cmd == 0x80000005) { note(event => 'delivered', status => $pdu->{status}, sequence => $seq) }
    elsif ($cmd == 0x80000000) { note(event => 'nack', status => $pdu->{status}, sequence => $seq) }
}

sub welcome_bind {
    my ($s, $pdu) = @_;
    my $kind = $BIND{ $pdu->{cmd} };
    my $answer = "bind_${kind}_resp";
    my $status = $option{alreadyBound}-- > 0 ? 0x5 : $option{bindStatus};
    $status ||= 0x5 if $option{single} && grep { $_->{bind} } values %session;
    $status ||= 0xd if ($option{refused} // '') eq $kind;
    $status ||= 0xe if defined $option{password} && $option{password} ne $pdu->{password};
    $session{ fileno $s }{bind} = $kind unless $status;
    note(event => 'bind', kind => $kind, status => $status, map { $_ => $pdu->{$_} } qw(system_id password system_type interface_version));
    $s->$answer(seq => $pdu->{seq}, status => $status, system_id => 'smsc');
    $s->syswrite(poison($option{greeting})) if $option{greeting} && !$status;
    report(@$_) for $status || $kind eq 'transmitter' ? () : splice @owed;
}

sub take {
    my ($s, $pdu) = @_;
    my $answer = @{ $option{answers} } ? shift @{ $option{answers} } : $option{otherwise};
    $id++;
    my $own = $id;
    note(
        event => 'submit', answer => "$answer", id => written($own, $option{ids}), sequence => $pdu->{seq},
        from => $pdu->{source_addr}, to => $pdu->{destination_addr}, esmClass => $pdu->{esm_class},
        types => [map { $_ + 0 } @$pdu{qw(source_addr_ton source_addr_npi dest_addr_ton dest_addr_npi)}],
        dataCoding => $pdu->{data_coding}, registered => $pdu->{registered_delivery}, validity => $pdu->{validity_period},
        text => unpack('H*', $pdu->{short_message}),
        tags => { map { $_ => unpack 'H*', $pdu->{$_} } grep { /^\d+$/ } keys %$pdu },
    );
    return if $answer eq 'silent';
    push @owed, [$pdu, $own] if $answer eq 'lost';
    return leave($s) if $answer =~ /^(drop|lost)$/;
    return spoil($s, $answer) if $answer =~ /^(garbage|short|long)$/;
    return $s->syswrite(poison($answer) . taken($pdu->{seq}, written($own, $option{ids}))) if poison($answer);
    return $s->submit_sm_resp(seq => $pdu->{seq}, status => $answer + 0, message_id => '') if $answer =~ /^\d+$/;
    return after($option{slowMs}, sub { accept_it($s, $pdu, $own) if defined fileno $s }) if $answer eq 'slow';
    accept_it($s, $pdu, $own);
}

sub accept_it {
    my ($s, $pdu, $own) = @_;
    my $wants = ($pdu->{registered_delivery} & 1) && $option{receipts} ne 'none';
    report($pdu, $own) if $wants && $option{receipts} eq 'before';
    $s->submit_sm_resp(seq => $pdu->{seq}, message_id => written($own, $option{ids}));
    return unless $wants && $option{receipts} ne 'before';
    report($pdu, $own);
    report($pdu, $own) if $option{receipts} eq 'twice';
}

# What no standard allows: bytes of no PDU, a length too small, one too large.
sub spoil {
    my ($s, $how) = @_;
    my %bytes = (
        garbage => "\xff\xfe\xfd" x 20,
        short   => pack('NNNN', 8, 0x5, 0, 77),
        long    => pack('NNNN', 0x7fffffff, 0x5, 0, 77),
    );
    $s->syswrite($bytes{$how});
}

# Lengths of PDUs that are right, and contents that are not.
sub poison {
    my ($how) = @_;
    my $head = "\0\1\1" . "8613800138000\0" . "\1\1" . "2\0" . "\0\0\0\0\0\0\0\0\0";
    my %of = (
        lying   => [0x5, $head . chr(200) . 'short'],
        surplus => [0x5, $head . chr(5) . 'short' . 'x'],
        noNul   => [0x5, "\0\1\1" . '8613800138000'],
        cut     => [0x5, substr $head, 0, 20],
        cutTlv  => [0x5, $head . chr(5) . 'short' . pack('nn', 0x1e, 40) . 'id'],
        unknown => [0x112, 'whatever'],
        body    => [0x15, 'why'],
    );
    my $of = $of{$how} or return;
    return pdu($of->[0], 77, $of->[1]);
}

sub taken { my ($seq, $message_id) = @_; return pdu(0x80000004, $seq, "$message_id\0") }

sub pdu { my ($command, $seq, $body) = @_; return pack('NNNN', 16 + length $body, $command, 0, $seq) . $body }

sub written { my ($number, $as) = @_; return $as eq 'hex' ? sprintf '%x', $number : sprintf '%010d', $number }

# To a session that takes what is delivered; with a pair that is another than the message came by.
sub report {
    my ($pdu, $own) = @_;
    my $told = written($own, $option{receiptIds});
    my $text = "id:$told sub:001 dlvrd:001 submit date:2611272105 done date:2611272106 stat:$option{stat} err:000 text:stat:X";
    $text = "id:$told stat:$option{stat}" if $option{dialect} eq $BARE;
    $text = '' if $option{dialect} eq $TLV_ONLY;
    my @tlvs = $option{dialect} eq $BARE ? () : (receipted_message_id => written($own, $option{ids}) . "\0", message_state => chr 2);
    send_to_phone_side(
        source_addr => $pdu->{destination_addr}, destination_addr => $pdu->{source_addr}, esm_class => 4,
        data_coding => $option{dialect} eq 'labelledUcs2' ? 8 : 0, short_message => $text,
        user_message_reference => $pdu->{user_message_reference}, @tlvs,
    );
}

sub send_to_phone_side {
    my %fields = @_;
    my ($to) = grep { $_->{bind} eq 'receiver' || $_->{bind} eq 'transceiver' } values %session;
    return note(event => 'nobody') unless $to;
    my @order = qw(source_addr destination_addr esm_class data_coding short_message
        user_message_reference receipted_message_id message_state);
    $to->{socket}->deliver_sm(async => 1, seq => ++$sequence, map { $_ => $fields{$_} } grep { defined $fields{$_} } @order);
}

sub read_orders {
    my $count = sysread STDIN, $orders, 65536, length $orders;
    exit 0 unless $count;
    obey($json->decode($1)) while $orders =~ s/^(.*)\n//;
}

sub obey {
    my ($order) = @_;
    my @sockets = map { $_->{socket} } values %session;
    if ($order->{do} eq 'set') { $option{$_} = $order->{options}{$_} for keys %{ $order->{options} } }
    elsif ($order->{do} eq 'drop') { leave($_) for @sockets }
    elsif ($order->{do} eq 'unbind') { $_->unbind(async => 1) for @sockets }
    elsif ($order->{do} eq 'enquire') { $_->enquire_link(async => 1) for @sockets }
    elsif ($order->{do} eq 'raw') { $_->syswrite(pack 'H*', $order->{hex}) for @sockets }
    elsif ($order->{do} eq 'deliver') {
        send_to_phone_side(
            source_addr => $order->{from}, destination_addr => $order->{to}, esm_class => $order->{esmClass} // 0,
            data_coding => $order->{dataCoding} // 0, short_message => pack('H*', $order->{text}),
        );
    }
}
